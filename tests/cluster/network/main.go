// The network of a test cluster in one file, chosen by the first argument:
//
//	dns -conf COREFILE               CoreDNS
//	policies KUBECONFIG NODE         kube-router's enforcement of network policies on this node
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"github.com/cloudnativelabs/kube-router/v2/pkg/controllers/netpol"
	"github.com/cloudnativelabs/kube-router/v2/pkg/healthcheck"
	"github.com/cloudnativelabs/kube-router/v2/pkg/options"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	switch {
	case len(os.Args) == 4 && os.Args[1] == "dns":
		os.Args = os.Args[1:]
		dnsserver.Directives = []string{"errors", "kubernetes"}
		coremain.Run()
	case len(os.Args) == 4 && os.Args[1] == "policies":
		log.Fatal(enforce(os.Args[2], os.Args[3]))
	default:
		fmt.Fprintln(os.Stderr, "usage: network dns -conf COREFILE | policies KUBECONFIG NODE")
		os.Exit(2)
	}
}

func enforce(kubeconfig, node string) error {
	settings, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(settings)
	if err != nil {
		return err
	}
	config := options.NewKubeRouterConfig()
	config.EnableIPv4, config.HostnameOverride = true, node
	registered(client, node)

	stop := make(chan struct{})
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	policies := factory.Networking().V1().NetworkPolicies().Informer()
	namespaces := factory.Core().V1().Namespaces().Informer()
	factory.Start(stop)
	factory.WaitForCacheSync(stop)

	tables, sets, err := netpol.NewIPTablesHandlers(config)
	if err != nil {
		return err
	}
	agent, err := netpol.NewNetworkPolicyController(
		client, config, pods, policies, namespaces, &sync.Mutex{}, tables, sets)
	if err != nil {
		return err
	}
	for informer, handler := range map[cache.SharedIndexInformer]cache.ResourceEventHandler{
		pods: agent.PodEventHandler, policies: agent.NetworkPolicyEventHandler, namespaces: agent.NamespaceEventHandler,
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	beats := make(chan *healthcheck.ControllerHeartbeat)
	go func() {
		for range beats {
		}
	}()
	var running sync.WaitGroup
	running.Add(1)
	agent.Run(beats, stop, &running)
	return nil
}

// registered waits until the node has an address.
func registered(client kubernetes.Interface, node string) {
	for {
		seen, err := client.CoreV1().Nodes().Get(context.Background(), node, meta.GetOptions{})
		if err == nil && len(seen.Status.Addresses) > 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
